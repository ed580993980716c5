mod capture;
